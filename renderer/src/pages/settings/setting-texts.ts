/** Settings of the program: their page and the palette call them by the same names. */
export const settingTexts = {
  startAtLaunch: { label: "Start together with Backlot", keywords: "launch autostart" },
  keepRunningInTray: { label: "Keep running in the tray", keywords: "close window" },
  keptRows: { label: "Rows of each service", keywords: "kept traffic history limit" },
  trafficMebibytes: { label: "Memory of all services", keywords: "kept traffic MiB limit" },
  shortcuts: { label: "Keyboard", keywords: "keys shortcuts" },
  about: { label: "About", keywords: "version data folder licences" },
} as const;
