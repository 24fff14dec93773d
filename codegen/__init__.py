"""capabilities.yaml in; backend classes, docs and data files out."""
