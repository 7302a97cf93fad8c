"""The supplier: it confirms every purchase order once, and may deliver late or short."""
