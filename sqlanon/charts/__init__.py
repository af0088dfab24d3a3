"""Charts as HTML and SVG: bars and intervals, drawn without another package."""
