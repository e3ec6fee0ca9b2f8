import { applyEdits, modify, type ParseError, parse } from "jsonc-parser";
import { isObject } from "../try/form/form-value.ts";

export const conditionTests = ["equals", "matches", "contains", "exists", "greater", "less"] as const;
export type ConditionTest = (typeof conditionTests)[number];

export interface ConditionDraft {
  readonly of: "request" | "metadata";
  /** Path of a field, or name of metadata. */
  readonly name: string;
  readonly test: ConditionTest;
  readonly value: string;
}

const answerKinds = ["reply", "stream", "status", "handler"] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** What the form shows of a rule. Other fields stay in its text. */
export interface RuleDraft {
  readonly name: string;
  readonly method: string;
  readonly conditions: readonly ConditionDraft[];
  readonly answer: AnswerKind;
  /** JSON of the reply or the script, as typed. */
  readonly json: string;
  readonly code: string;
  readonly message: string;
  /** JSON of the list of details, as typed; empty for none. */
  readonly details: string;
  readonly delay: string;
  readonly times: string;
  readonly waitFor: string;
  readonly release: string;
}

export const newRuleText = (method: string): string => JSON.stringify({ method, reply: {} }, null, 2);

/** Changes of a rule that are not in the file yet. */
export interface UnsavedRule {
  /** The rule's text in the file when it was changed. */
  readonly base: string;
  readonly text: string;
  /** The input of the form, which may not be valid yet. */
  readonly typed?: RuleDraft | undefined;
}

/** Takes over that the rule was switched on or off in the file meanwhile. If nothing else was changed there, the text there is what the changes are about. */
export function rebased(unsaved: UnsavedRule, saved: string): UnsavedRule {
  const now = parsed(saved);
  if (unsaved.base === saved || !now) return unsaved;
  const { enabled: wasEnabled, ...before } = parsed(unsaved.base) ?? {};
  const { enabled, ...after } = now;
  const isOnlySwitched = JSON.stringify(before) === JSON.stringify(after);
  if (enabled === wasEnabled && !isOnlySwitched) return unsaved;
  const switched = (text: string) => (enabled === wasEnabled ? text : withField(text, ["enabled"], enabled));
  return { ...unsaved, base: isOnlySwitched ? saved : switched(unsaved.base), text: switched(unsaved.text) };
}

/** The text of a rule without its name, which another rule has. */
export const withoutName = (text: string): string => withField(text, ["name"], undefined);

/** The service answers reflection and health itself. */
export const takesRules = (path: string): boolean => !path.startsWith("/grpc.");

type Fields = Readonly<Record<string, unknown>>;

/** The form of a rule's text; undefined if the text is not a JSON object. */
export function draftOfText(text: string): RuleDraft | undefined {
  const rule = parsed(text);
  if (!rule) return undefined;
  const { name, method, when, reply, stream, status, delay, times, waitFor, release } = rule;
  const answer: AnswerKind = status !== undefined ? "status" : stream !== undefined ? "stream" : reply !== undefined ? "reply" : "handler";
  const { code = status ?? "", message = "", details } = isObject(status as never) ? (status as unknown as Fields) : {};
  return {
    name: textOf(name),
    method: textOf(method),
    conditions: [...conditionsOf(when, "request"), ...conditionsOf(when, "metadata")],
    answer,
    json: answer === "reply" || answer === "stream" ? JSON.stringify(answer === "reply" ? reply : stream, null, 2) : "{}",
    code: textOf(code),
    message: textOf(message),
    details: details === undefined ? "" : JSON.stringify(details, null, 2),
    delay: textOf(delay),
    times: textOf(times),
    waitFor: textOf(waitFor),
    release: textOf(release),
  };
}

/** The text of the rule with the values of the form, or the first field that is not valid. Comments in unchanged parts stay. */
export function textOfDraft(
  text: string,
  draft: RuleDraft,
): { readonly text: string } | { readonly field: string; readonly problem: string } {
  const before = draftOfText(text);
  if (!before) return { field: "json", problem: "The text of the rule is not a JSON object." };
  const json = draft.answer === "reply" || draft.answer === "stream" ? parsedValue(draft.json) : undefined;
  if (json && "problem" in json) return { field: "json", problem: json.problem };
  const details = draft.answer === "status" && draft.details !== before.details ? detailsOf(draft.details) : {};
  if ("problem" in details) return { field: "details", problem: details.problem };
  const unnamed = draft.conditions.findIndex(({ name }) => name.trim() === "");
  // Without it the rule would answer other calls too.
  if (unnamed !== -1 && JSON.stringify(draft.conditions) !== JSON.stringify(before.conditions))
    return { field: "conditions", problem: `Condition ${unnamed + 1} is of no field: enter which, or remove it.` };
  if (draft.times !== "" && !/^[1-9]\d{0,8}$/.test(draft.times)) return { field: "times", problem: "Enter a number from 1, or nothing." };
  let changed = text;
  const set = (path: (string | number)[], value: unknown) => {
    changed = withField(changed, path, value);
  };
  const orNone = (value: string) => (value.trim() === "" ? undefined : value.trim());
  const simple = ["name", "method", "waitFor", "release"] as const;
  for (const field of simple) if (draft[field] !== before[field]) set([field], orNone(draft[field]));
  // A delay that changes by a step is an object, and is edited as JSON.
  if (draft.delay !== before.delay)
    set(["delay"], orNone(draft.delay) && (/^\s*\{/.test(draft.delay) ? objectOf(draft.delay) : draft.delay.trim()));
  if (draft.times !== before.times) set(["times"], draft.times === "" ? undefined : Number(draft.times));
  for (const of of ["request", "metadata"] as const) {
    const [now, known] = [draft.conditions, before.conditions].map((all) => conditionsJson(all, of));
    if (JSON.stringify(now) !== JSON.stringify(known)) set(["when", of], now);
  }
  const kinds = ["reply", "stream", "status"] as const;
  if (draft.answer !== before.answer)
    for (const kind of kinds) if (kind !== draft.answer && parsed(changed)?.[kind] !== undefined) set([kind], undefined);
  if (json && (draft.answer !== before.answer || draft.json !== before.json)) set([draft.answer], json.value);
  const ofStatus = ["answer", "code", "message", "details"] as const;
  if (draft.answer === "status" && ofStatus.some((field) => draft[field] !== before[field])) {
    const code = /^\d+$/.test(draft.code) ? Number(draft.code) : draft.code;
    const known = parsed(changed)?.status;
    if (isObject(known as never) || draft.message !== "" || draft.details.trim() !== "") {
      if (!isObject(known as never)) set(["status"], {});
      set(["status", "code"], code);
      set(["status", "message"], draft.message === "" ? undefined : draft.message);
      if (draft.details !== before.details) set(["status", "details"], details.value);
    } else set(["status"], code);
  }
  return { text: changed };
}

/** Undefined removes the field. */
const withField = (text: string, path: (string | number)[], value: unknown): string =>
  applyEdits(text, modify(text, path, value, { formattingOptions: { tabSize: 2, insertSpaces: true, eol: "\n" } }));

function parsed(text: string): Fields | undefined {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  return errors.length === 0 && isObject(value as never) ? (value as Fields) : undefined;
}

function parsedValue(text: string): { readonly value: unknown } | { readonly problem: string } {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (!error && value !== undefined) return { value };
  const line = text.slice(0, error?.offset ?? 0).split("\n").length;
  return { problem: `This is not JSON: check line ${line}.` };
}

/** The details of a status, as typed: a list of JSON objects, or one. */
export function detailsOf(text: string): { readonly value?: readonly unknown[] } | { readonly problem: string } {
  if (text.trim() === "") return {};
  const json = parsedValue(text);
  if ("problem" in json) return json;
  const value = Array.isArray(json.value) ? json.value : [json.value];
  return value.every((one) => isObject(one) && typeof one["@type"] === "string")
    ? { value }
    : { problem: 'Each detail is an object with "@type".' };
}

function objectOf(text: string): unknown {
  const parsedText = parsedValue(text);
  return "value" in parsedText ? parsedText.value : text;
}

const textOf = (value: unknown): string => (value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value));

function conditionsOf(when: unknown, of: ConditionDraft["of"]): readonly ConditionDraft[] {
  const all = isObject(when as never) ? (when as Fields)[of] : undefined;
  if (!isObject(all as never)) return [];
  return Object.entries(all as Fields).flatMap(([name, test]) =>
    isObject(test as never)
      ? Object.entries(test as Fields).flatMap(([kind, value]) => {
          const known = conditionTests.find((one) => one === kind);
          return known ? [{ of, name, test: known, value: conditionText(value) }] : [];
        })
      : [{ of, name, test: "equals" as const, value: conditionText(test) }],
  );
}

/** A string that looks like another value is in quotes. */
const conditionText = (value: unknown): string =>
  typeof value === "string" && conditionValue(value) === value ? value : JSON.stringify(value);

/** A number that JSON writes otherwise stays as typed, since the field may be a text: "1.0". For a field with a number both are the same. */
function conditionValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "number" && String(value) !== text.trim() ? text.trim() : value;
  } catch {
    return text;
  }
}

function conditionsJson(conditions: readonly ConditionDraft[], of: ConditionDraft["of"]): Fields | undefined {
  const fields = new Map<string, Record<string, unknown>>();
  for (const { of: other, name, test, value } of conditions) {
    if (other !== of || name.trim() === "") continue;
    const isText = test === "matches";
    fields.set(name.trim(), {
      ...fields.get(name.trim()),
      [test]: isText ? value : test === "exists" ? value.trim() !== "false" : conditionValue(value),
    });
  }
  if (fields.size === 0) return undefined;
  return Object.fromEntries(
    [...fields].map(([name, tests]) => {
      const isShort = Object.keys(tests).join() === "equals" && !isObject(tests.equals as never);
      return [name, isShort ? tests.equals : tests];
    }),
  );
}

/** A call that the rule answers, as far as its conditions name values of fields and of metadata. */
export function callOfRule({ conditions }: RuleDraft): {
  readonly message: Fields;
  readonly metadata: readonly (readonly [string, string])[];
} {
  const equal = conditions.filter(({ test, name }) => test === "equals" && name.trim() !== "");
  const message: Record<string, unknown> = {};
  for (const { of, name, value } of equal) {
    const steps = name.trim().split(".");
    // Items of lists and keys of maps would need the items before them.
    if (of !== "request" || !steps.every((step) => /^\w+$/.test(step))) continue;
    const inner = steps.slice(0, -1).reduce<Record<string, unknown>>((within, step) => {
      const known = within[step];
      const next = isObject(known as never) ? (known as Record<string, unknown>) : {};
      within[step] = next;
      return next;
    }, message);
    inner[steps.at(-1) as string] = conditionValue(value);
  }
  const metadata = equal
    .filter(({ of }) => of === "metadata")
    .map(({ name, value }): [string, string] => [name.trim(), String(conditionValue(value))]);
  return { message, metadata };
}
