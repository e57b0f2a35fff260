"""How the pages of this folder are made."""
