/** Settings of the program by the names that its page gives them. */
export const paletteSettings: readonly { readonly label: string; readonly keywords: string }[] = [
  { label: "Start together with Backlot", keywords: "launch autostart" },
  { label: "Rows kept of the traffic", keywords: "history ring limit" },
  { label: "Memory for the kept traffic", keywords: "MiB ring limit" },
  { label: "Keyboard shortcuts", keywords: "keys" },
  { label: "About Backlot", keywords: "version data folder licences" },
];
