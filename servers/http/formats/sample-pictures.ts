/** One small picture of 64 by 64 pixels, a shop front before a sky, in each format of /image. */
export interface SamplePicture {
  readonly type: string;
  readonly bytes: Buffer;
}

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" fill="#5b93d4"/>' +
  '<path fill="#f4efe6" d="M14 26h36v28H14z"/><path fill="#c65b3a" d="M10 28h44l-6-10H16z"/><path fill="#3b3a39" d="M28 38h10v16H28z"/></svg>\n';

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAAJ1BMVEV1ruj07+Zrot1lm9bGWzqPgJNWi8elbWlQgbxFeLY2Z6Y7OjkvX57fmGwQAAACHklE" +
    "QVRYw92Q7ZrjIAiFKenY4Hr/1zsKBz+SzpS0+2OfJUYROa8gkdltWRb3RqezF3aSnk5v14D/uv0HnfCyYGVi/jmH+ISYMnhi8bTxM4tNLKYpj9l03L2RpllM" +
    "Y/hlPG6Cdsb2RCf4WMBIZdZ7mdc4j5N+3chRvxv16RCkQ4BWySf29wAbfpvOgXlrvs2kbjU72fRgQwi+n5vnCAzSXEDafH9lYG+4h7bVvl4CvlbBAZBe6u/3" +
    "XwGPAODRLsLfAKl5NgINoInUS9YKEoiRBpolF1WHpgJSrACUkGzSFuBHC6glpE4gk2sg8oL+jilhtBbUqxbWWwl6aaIEwoUGjIASaBTQllvENBeaVsFsYUC/" +
    "8h3APis6QOq/xwD5GUAuVCDtqjqaRqjOImAEK9jTvqu+6Uj8enVigCbHQwglIxkuWAEKUBWZ2CASBlRETUcLklx+bOHPsBNA5XUiAUGUeAGQrG5yqUViABc3" +
    "JYm5IntzQgCB6cXkuwYIVjDJawWp7+KAJMNIZsuXWngCKJ8CrrxBdkCGn6+0kDuDxAm5zUFAz6+APN0frCBDrCvZItmW8BsgP1sF/kUrGPm1gixeQf2vtFCz" +
    "rYLZgi0gWVeCh66iFQwjyT8ZTkop8vxQf8rvGqjvA7yFXJZ9Oe7LWVPmVCrqFQSKLxYrhsCYMrDWQfpK+pvTRdkiHjjnWBYhrLmQ+M5yPQC/h5BF5UP7GPAN" +
    "og1IXbS+z5kAAAAASUVORK5CYII=",
  "base64",
);

const jpeg = Buffer.from(
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//" +
    "2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCABAAEADASIAAhEBAxEB/8QA" +
    "GgAAAwADAQAAAAAAAAAAAAAAAAMFAgYHBP/EADoQAAAFAwAECgYLAAAAAAAAAAABAgMSBAURBhMU0QcWISJRUlOSobIVMUFUc5M1RWFxcnSCg5HBwv/EABkB" +
    "AAIDAQAAAAAAAAAAAAAAAAAFAQMEAv/EACIRAAIBAwQCAwAAAAAAAAAAAAABAgMEURESFJEhMhMzcf/aAAwDAQACEQMRAD8AsSBIJmCYbCwdIEgmYJgAdIEg" +
    "mYJgAdIEgmYJgARIYrdggz/gLkMmKV2uqkU7SkEpWcSM8chZ/oU15yhTbivJot4QnUSm9EefaHev4EDaHev4EK/Feu7Wm7ytwOK9d2tN3lbgj33GX2P9LXC6" +
    "RI2h3r+BA2h3r+BCvxXru1pu8rcDivXdrTd5W4G+4y+w0tcLpHhZdmjlPlL1jOQxq6B+21CW3ltqNSZcwzMsZMuj7AuQdWs5TppzXkRXcIQqv434ESFHR5Wb" +
    "1Tl+LymI8hU0bVm+036vKYtqej/CmHsjeR4bld6C1avb39Vrcw5ilZxjPqI+kh7hpHCT9W/u/wCApGJfY0pslQ+2wzWycdUSEFqllkzPBewWBx6x/Ttv/NN+" +
    "Yh2ESyDU9KlYubfwS8yhFkK2lx4ujXwC8yhCkGlH60YKvuxMxS0dfbavdO484htBSypSiIi5p+0RpAkO5R3Jo5T0ep0/0pbvf6X5yd40/hAfZq9g2R1t+Gsl" +
    "qlErGY4zj7hAkCQzcRZL+Q8CbOlTd6oXHEmhCahs1KUWCIiUWTMx1X0pbvf6X5yd45hIEgcRZDkPBsWllSy/c2107zbqSZIjNCiUWZK6BEmESBIaIR2xSKZP" +
    "c9T/2Q==",
  "base64",
);

const webp = Buffer.from(
  "UklGRloBAABXRUJQVlA4IE4BAADQCQCdASpAAEAAPrFKnkmnJKMiMfOckOAWCWQAzJIBPy/u9+vOBaIM8BdonPTPkTA/2etFCMEOdU9VXNlFrD5Onpr1LRFk" +
    "u4LPwrHFGbW91N7o0qnZ5AAA/uikPSP5j9qUgE8B/QkieoVXVQWwgsXxPYxFAPQ4GtVssz11TomDKk8UtmmgaaVHs0Muhke3HYv8inSaM39DkGAMr/ByBTnm" +
    "fbMH9nI/UDtX9nI8Ihzzjg+bK0omgx4KjaAtT02F2fKh6q2yDB8kgRei7warhqNCNIQjrFEmjvzhCkD/znKSm25GWZ78ev/wQ5/TQbVDlpaHguzVjtTq3bgT" +
    "6KUZ08bkd0vEPgTprKXDZuJHIbUT0ZBlpz9TO7Rei7BuBT6N93wYjW8Rjvxf4+MG6bR4hsgC+ofXSRgaNJedzrJX6F8Qi/c6781jvBa4GfAMWUAA",
  "base64",
);

/** In the service's order of preference, for formats that the client accepts equally. */
export const samplePictures = {
  png: { type: "image/png", bytes: png },
  webp: { type: "image/webp", bytes: webp },
  jpeg: { type: "image/jpeg", bytes: jpeg },
  svg: { type: "image/svg+xml", bytes: Buffer.from(svg) },
} as const satisfies Readonly<Record<string, SamplePicture>>;
