"""The signs that begin an item of a list and are nothing else, with those that only a font knows, for a class of a regular expression."""

BULLETS = "•●▪▫■□◦‣∙►▶▷▸▹▻◄▲▼○◆◇❍❖❏❐❑❒✓✔✗✘☐☑☒☞➔➜➢➤→⇒⇨⁃\ue000-\uf8ff"
