"""The drawn items (one SVG each), the palettes, and the font of captions.

``<item>.svg`` is the one source of an item's picture: the window, the report and the docs all
recolour it. In a drawing, ``#BODY`` stands for the colour that the card names, ``#SHADE`` for a
slightly different tone of it, ``#LINE`` for the outline and ``#INK`` for inner strokes. A new
item is a new file here, in a box of 200 by 200 units with about 8 units left free at the edges.
``#PALE`` is glass, the face of a clock, and eyes: the same in every colour, and no game's. What a
clock's face and a mirror's glass show is drawn by ``drawing.py``.

``captain/`` holds the things of the captain's deck, which are no items. They may also be
``#PLANK`` (the card's sand), ``#WOOD`` (brown) and ``#CHALK`` (white).
"""
