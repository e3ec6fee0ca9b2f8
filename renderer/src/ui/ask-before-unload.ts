const unsaved: (() => boolean)[] = [];

/** Has the browser ask before it reloads or closes the page while this says that something typed is not saved. */
export function askBeforeUnload(isUnsaved: () => boolean): void {
  unsaved.push(isUnsaved);
}

/** The desktop's window has no way to ask: it would not close, without a word. */
export function watchUnload(): void {
  window.addEventListener("beforeunload", (event) => {
    if (unsaved.some((isUnsaved) => isUnsaved())) event.preventDefault();
  });
}
