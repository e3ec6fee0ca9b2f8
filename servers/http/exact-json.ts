/** In `lib` only from es2026 on; Node has had both since 21. */
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): unknown;
}
const exact = JSON as unknown as ExactJson;

/** Numbers that may not come back as written: too many digits, an exponent, a fraction that is tiny or ends with 0, and -0. */
const delicateNumber = /\d{16}|\d{7}\.\d|\d[eE]|\.\d{10}|\.0{6}|\.\d{0,8}0(?!\d)|-0/;

/** Parses so that `JSON.stringify` gives each number back as it was written, also one that JavaScript would round. */
export function parseJsonExactly(text: string): unknown {
  if (!delicateNumber.test(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? exact.rawJSON(source) : value,
  );
}
