"""The control plane: control topics read and checked, the world clock, permissions on topics."""
