"""The sdy dialect written so that HLO carries it unread, and read back."""
