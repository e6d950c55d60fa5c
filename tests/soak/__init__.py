"""Long sessions on a real window: does memory grow, do the clocks drift, is an event lost?"""
