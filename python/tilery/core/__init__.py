"""What the languages share: the way from a call to a plan, the disk cache, launches by the oracle, timing, and `tile`, the
values of Tileon and NineToothed."""
