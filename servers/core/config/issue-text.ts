import type { z } from "zod";
import { countOf, countText } from "../service/quantity.ts";

type Issue = z.core.$ZodIssue;

interface IssueText {
  /** Follows the field's name in the sentence: "is too long (at most 8,192 characters)". */
  readonly predicate: string;
  /** For a form's field: "at most 8,192 characters are allowed". */
  readonly need: string;
}

const listed = (values: readonly unknown[]) =>
  values.length === 1 ? String(values[0]) : `${values.slice(0, -1).join(", ")} or ${String(values.at(-1))}`;
const isNumber = (origin: string) => origin === "number" || origin === "int" || origin === "bigint";
const units = (origin: string, value: number | bigint) =>
  origin === "string" ? countOf(value, "character") : countOf(value, "entry", "entries");

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function textOf(issue: Issue): IssueText {
  switch (issue.code) {
    case "too_big": {
      const { origin, maximum } = issue;
      if (isNumber(origin)) return { predicate: `is too large (at most ${countText(maximum)})`, need: `at most ${maximum} is allowed` };
      const predicate = origin === "string" ? "is too long" : "has too many entries";
      return { predicate: `${predicate} (at most ${units(origin, maximum)})`, need: `at most ${units(origin, maximum)} are allowed` };
    }
    case "too_small": {
      const { origin, minimum } = issue;
      if (isNumber(origin)) return { predicate: `is too small (at least ${countText(minimum)})`, need: `at least ${minimum} is needed` };
      if (Number(minimum) === 1) return { predicate: "is empty", need: "it may not be empty" };
      const predicate = origin === "string" ? "is too short" : "has too few entries";
      return { predicate: `${predicate} (at least ${units(origin, minimum)})`, need: `at least ${units(origin, minimum)} are needed` };
    }
    case "invalid_type": {
      if (issue.input === undefined && issue.message.endsWith("received undefined"))
        return { predicate: "is missing", need: "it is missing" };
      const wanted = typeNames[issue.expected] ?? `of the type ${issue.expected}`;
      return { predicate: `is not ${wanted}`, need: `${wanted} is needed` };
    }
    case "invalid_value":
      return { predicate: `is not ${listed(issue.values)}`, need: `${listed(issue.values)} is needed` };
    case "unrecognized_keys":
      return { predicate: `has an unknown field: ${issue.keys.join(", ")}`, need: `there is no field ${listed(issue.keys)}` };
    case "not_multiple_of":
      if (issue.divisor === 2) return { predicate: "is not even", need: "an even number is needed" };
      return { predicate: `is not a multiple of ${issue.divisor}`, need: `a multiple of ${issue.divisor} is needed` };
    case "invalid_format":
      // A schema's own message is more precise than the name of a format.
      return issue.message.startsWith("Invalid ") ? { predicate: "has the wrong form", need: "the form is wrong" } : own(issue.message);
    case "invalid_union":
      // The values of the field by which the kinds are told apart.
      if ("options" in issue && issue.options?.length) {
        const kinds = listed(issue.options.filter((option) => option !== undefined));
        return { predicate: `is not ${kinds}`, need: `${kinds} is needed` };
      }
      return notValid(issue.message);
    case "invalid_key":
    case "invalid_element":
      return notValid(issue.message);
    case "custom":
      return own(issue.message);
    default:
      return issue satisfies never;
  }
}

const notValid = (message: string): IssueText =>
  message.startsWith("Invalid ") ? { predicate: "is not valid", need: "it is not valid" } : own(message);

/** A message of the schema's own is a sentence; it follows a colon. */
const own = (message: string): IssueText => {
  const text = message.replace(/\.$/, "");
  return { predicate: `is not valid: ${text}`, need: text };
};

/** Problem text of a configuration field. */
export const neededText = (issue: Issue | undefined): string => (issue ? textOf(issue).need : "it is not valid");

/** "The path is too long (at most 8,192 characters)": without a full stop, as messages of failures are. */
export function issueSentence(issue: Issue | undefined): string {
  if (!issue) return "The parameters are not valid";
  return `The ${nameOf(issue.path)} ${textOf(issue).predicate}`;
}

/** "keptRows" is "kept rows", and the third of "users" is "users, entry 3". */
function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return "request";
  const words = path.map((part) => (typeof part === "number" ? `entry ${part + 1}` : wordsOf(String(part))));
  const last = path.findLastIndex((part) => typeof part !== "number");
  return words.slice(Math.max(0, last)).join(", ");
}

const wordsOf = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
