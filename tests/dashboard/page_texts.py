"""What a component says."""


def texts(component):
    """All strings inside of it, in order."""
    if isinstance(component, str):
        return [component]
    if isinstance(component, list | tuple):
        return [text for child in component for text in texts(child)]
    return texts(getattr(component, "children", None) or [])
