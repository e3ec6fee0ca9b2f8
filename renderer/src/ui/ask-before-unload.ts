const unsaved = new Set<() => boolean>();

/** Has the browser ask before it reloads or closes the page while this says that something typed is not saved. Returns the function that ends it. */
export function askBeforeUnload(isUnsaved: () => boolean): () => void {
  unsaved.add(isUnsaved);
  return () => unsaved.delete(isUnsaved);
}

/** The desktop's window has no way to ask: it would not close, without a word. */
export function watchUnload(): void {
  window.addEventListener("beforeunload", (event) => {
    if ([...unsaved].some((isUnsaved) => isUnsaved())) event.preventDefault();
  });
}
