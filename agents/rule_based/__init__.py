"""Rule-based agents, one file a game, each with a main style and variants."""
