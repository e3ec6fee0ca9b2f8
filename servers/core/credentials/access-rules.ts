import type { ConfigRows } from "../../../contract/config.ts";

type Column = ConfigRows["columns"][number];

/** For whom a rule is: a user name, `*` for everyone, `-` for clients without a name. */
const userColumn: Column = {
  title: "Who",
  choices: [
    { value: "*", label: "Everyone" },
    { value: "-", label: "Clients without a name" },
  ],
  otherwise: "The user",
  placeholder: "user name",
  pattern: "\\S+",
  problem: "A user name without spaces is needed.",
};

/** The columns of rules `<user> <right> <subject>` in the form. */
export const accessRuleRows = (rights: Readonly<Record<string, string>>, subject: Column): ConfigRows => ({
  row: "rule",
  columns: [
    userColumn,
    {
      title: "May",
      choices: Object.entries(rights).map(([value, label]) => ({ value, label })),
      pattern: Object.keys(rights).join("|"),
      problem: "This right does not exist.",
    },
    subject,
  ],
});

/** Undefined where the text is not a rule with one of these rights. */
export function parseAccessRule<Right extends string>(
  text: string,
  rights: Readonly<Record<Right, string>>,
): { readonly user: string; readonly right: Right; readonly subject: string } | undefined {
  const [, user, right, subject] = /^(\S+)\s+(\S+)\s+(\S.*)$/.exec(text.trim()) ?? [];
  if (user === undefined || right === undefined || subject === undefined || !Object.hasOwn(rights, right)) return undefined;
  return { user, right: right as Right, subject };
}

export const isRuleFor = (user: string | undefined, ruleUser: string): boolean => ruleUser === "*" || ruleUser === (user ?? "-");
