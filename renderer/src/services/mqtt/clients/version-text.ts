/** The protocol level of a CONNECT in the standard's own words: 3 is 3.1, 4 is 3.1.1. */
export function versionText(level: number): string {
  switch (level) {
    case 3:
      return "3.1";
    case 4:
      return "3.1.1";
    case 5:
      return "5.0";
    default:
      return String(level);
  }
}
