"""Tables as other programs want them."""
