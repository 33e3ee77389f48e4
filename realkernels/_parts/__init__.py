"""Parts that several techniques are made of; a technique takes from here, never from another technique."""
