"""The signs that begin an item of a list and are nothing else, for a class of a regular expression."""

BULLETS = "•●▪▫■□◦‣∙►○◆❖✓✗☐☑☒➢➔"
