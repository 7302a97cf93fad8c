"""What all routes share: problem documents, limits, cursors, pages and read-your-writes."""
