"""Replays recorded launches with `nereid run --launch`. See README.md in the folder above."""
