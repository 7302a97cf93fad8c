"""The control plane: generations, markers and the world clock, as the control topics hold them."""
