const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Units of a shift. */
export const clockUnits = [
  { value: "60", label: "minutes" },
  { value: "3600", label: "hours" },
  { value: "86400", label: "days" },
] as const;

/** Usual steps of the clock for tests of tokens. */
export const clockSteps = [
  { label: "+10 min", seconds: 10 * minute },
  { label: "+1 h", seconds: hour },
  { label: "+1 d", seconds: day },
  { label: "+31 d", seconds: 31 * day },
  { label: "−1 h", seconds: -hour },
] as const;

/** The largest shift that the service accepts, either way: ten years. */
export const widestShiftSeconds = 315_360_000;

export const withinWidest = (seconds: number): number => Math.max(-widestShiftSeconds, Math.min(widestShiftSeconds, Math.round(seconds)));

/** "+1 h", "−2 d 4 h", "+31 d"; "on time" for none. */
export function formatShift(seconds: number): string {
  if (seconds === 0) return "on time";
  const whole = Math.abs(seconds);
  const parts = [
    [Math.floor(whole / day), "d"],
    [Math.floor((whole % day) / hour), "h"],
    [Math.floor((whole % hour) / minute), "min"],
    [whole % minute, "s"],
  ] as const;
  const said = parts.filter(([value]) => value > 0).slice(0, 2);
  return `${seconds < 0 ? "−" : "+"}${said.map(([value, unit]) => `${value} ${unit}`).join(" ")}`;
}
