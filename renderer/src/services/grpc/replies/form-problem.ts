/** Parts of the form, by the field of a rule that they are about. */
const formParts: Readonly<Record<string, string>> = {
  name: "Name",
  method: "Method",
  when: "When",
  reply: "Answer",
  stream: "Answer",
  status: "Answer",
  delay: "Delay",
  times: "Times",
  waitFor: "Waits for",
  release: "Releases",
};

export interface FormProblem {
  /** "Answer, message", as the form names it; of a field that only the JSON has, its path. */
  readonly place: string;
  readonly needed: string;
}

/** "reply.items[0].id: a number is expected" */
const fieldThenNeeded = /^(\w+)((?:\.[\w@-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*): (\S[\s\S]*)$/;

/** A problem of a rule for whoever fills in its form, who has not seen a line of its JSON; undefined where it is about no field. */
export function formProblem(message: string): FormProblem | undefined {
  const [, field = "", path = "", needed = ""] = fieldThenNeeded.exec(message) ?? [];
  if (needed === "") return undefined;
  const part = formParts[field];
  if (part === undefined) return { place: field + path, needed };
  const [, step, inStep] = (field === "stream" && /^\[(\d+)\](.*)$/s.exec(path)) || [undefined, undefined, path];
  const within = inStep?.replace(/^\./, "");
  return { place: [part, step !== undefined && `step ${Number(step) + 1}`, within].filter(Boolean).join(", "), needed };
}
