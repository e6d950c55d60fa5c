"""The drawn items (one SVG each), the palettes, and the font of captions.

``<item>.svg`` is the one source of an item's picture: the window, the report and the docs all
recolour it. In a drawing, ``#BODY`` stands for the colour that the card names, ``#SHADE`` for a
slightly different tone of it, ``#LINE`` for the outline and ``#INK`` for inner strokes. A new
item is a new file here, in a box of 200 by 200 units with about 8 units left free at the edges.
"""
