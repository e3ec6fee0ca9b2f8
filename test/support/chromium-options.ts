/** The last list counts: Playwright's own, and what follows it. */
const disabledFeatures = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"],
  ...["LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"],
  ...["OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
  // Pages of the browser's own that every window prepares for its address bar, in a process beside the page under test: a third of its time.
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  // A process that is started ahead for the next page, of which there is none.
  "SpareRendererForSitePerProcess",
];

/** How tests start the Chromium of the system with Playwright. */
export const chromiumOptions = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    `--disable-features=${disabledFeatures.join()}`,
    // Chromium does not run as root with its sandbox on.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  ],
};
