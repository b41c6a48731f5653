"""The sharding rule of each kind of op: which dimensions of its tensors are split alike."""
