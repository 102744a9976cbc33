"""The experiments, one file each: what is claimed, which runs try it, and what of a run decides (lab/experiment)."""
