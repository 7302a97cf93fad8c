"""retail replay: changed code from offset zero, beside the generation that readers follow."""
