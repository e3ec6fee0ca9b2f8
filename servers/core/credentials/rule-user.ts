import type { ConfigRows } from "../../../contract/config.ts";

/** In a list of rules, for whom a rule is: a user name, `*` for everyone, `-` for clients without a name. */
export const ruleUserColumn: ConfigRows["columns"][number] = {
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

export const isRuleFor = (user: string | undefined, ruleUser: string): boolean => ruleUser === "*" || ruleUser === (user ?? "-");
