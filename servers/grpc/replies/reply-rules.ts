import type { ReplyProblem, ReplyRule, ReplyRuleView, ReplyStatus } from "../../../contract/services/grpc-replies.ts";
import { countOf } from "../../core/service/quantity.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import { parseStatusCode, statusName } from "../engine/status.ts";
import type { ServedMethods } from "../services/served-methods.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";
import { nodeAt, pathText, problemAt } from "./json-source.ts";
import type { ParsedReplies, ParsedRule } from "./parse-replies.ts";

/** The rules of a file for what is served now. */
export interface ReplyRules {
  /** In the order of the file. */
  readonly view: readonly ReplyRuleView[];
  /** The enabled and valid ones, by the path of their method. */
  readonly byPath: ReadonlyMap<string, readonly CompiledRule[]>;
}

/** A rule that does not fit the types is left out and reported; the others answer. */
export function compileRules(parsed: ParsedReplies, served: Pick<ServedMethods, "view" | "find">, mostSteps: number): ReplyRules {
  const byPath = new Map<string, CompiledRule[]>();
  const view = parsed.rules.map((one): ReplyRuleView => {
    const { key, rule } = one;
    const problems: ReplyProblem[] = [];
    const misfit = (path: readonly PropertyKey[], message: string) => problems.push(problemIn(parsed, one, path, message));
    const methods = methodsOf(rule.method, served);
    if (typeof methods === "string") misfit(["method"], methods);
    else {
      const compiled = methods.map((method) => [method.path, compileRule({ key, rule, method, mostSteps, onMisfit: misfit })] as const);
      if (problems.length === 0 && rule.enabled) for (const [path, each] of compiled) byPath.set(path, [...(byPath.get(path) ?? []), each]);
    }
    const [problem] = problems;
    return {
      key,
      name: rule.name ?? "",
      method: rule.method,
      enabled: rule.enabled,
      when: whenText(rule),
      answer: answerText(rule),
      ...(problem && { problem }),
    };
  });
  return { view, byPath };
}

function problemIn({ text, root }: ParsedReplies, { node }: ParsedRule, path: readonly PropertyKey[], message: string): ReplyProblem {
  const problem = problemAt(text, { offset: nodeAt(node, path).offset, message });
  const list = nodeAt(root, ["rules"]).children ?? [];
  return { ...problem, message: `${pathText(["rules", list.indexOf(node), ...path])}: ${message}` };
}

/** Returns the problem if there is none. */
function methodsOf(name: string, served: Pick<ServedMethods, "view" | "find">): readonly GrpcMethod[] | string {
  const [serviceName = "", methodName = ""] = name.split("/");
  const service = served.view.find((one) => one.name === serviceName);
  if (!service) return `there is no service ${serviceName}; there are ${listed(served.view.map((one) => one.name))}`;
  if (serviceName.startsWith("grpc.")) return "reflection and health cannot have rules";
  const paths = service.methods.filter((method) => methodName === "*" || method.name === methodName).map(({ path }) => path);
  if (paths.length === 0)
    return `there is no method ${methodName} in ${serviceName}; there are ${listed(service.methods.map((one) => one.name))}`;
  return paths.flatMap((path) => served.find(path) ?? []);
}

const listed = (names: readonly string[]): string => (names.join(", ") || "none").slice(0, 300);

const longestText = 200;

function whenText({ when }: ReplyRule): string {
  const parts = [
    ...Object.entries(when.request ?? {}).map(([field, test]) => `${field} ${testText(test)}`),
    ...Object.entries(when.anyMessage ?? {}).map(([field, test]) => `any ${field} ${testText(test)}`),
    ...Object.entries(when.everyMessage ?? {}).map(([field, test]) => `every ${field} ${testText(test)}`),
    ...(when.messageCount ? [`messages ${testText(when.messageCount)}`] : []),
    ...Object.entries(when.metadata ?? {}).map(([name, test]) => `metadata ${name} ${testText(test)}`),
  ];
  return parts.join(", ").slice(0, longestText);
}

const signs: Readonly<Record<string, string>> = {
  equals: "=",
  matches: "matches",
  contains: "contains",
  exists: "exists",
  greater: ">",
  less: "<",
};

const testText = (test: object): string =>
  Object.entries(test)
    .map(([name, value]) =>
      name === "exists"
        ? value
          ? "is there"
          : "is not there"
        : `${signs[name]} ${typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    .join(" and ");

function answerText({ reply, stream, status, release, waitFor, delay }: ReplyRule): string {
  const parts = [
    ...(waitFor === undefined ? [] : [`waits for ${waitFor}`]),
    ...(delay === undefined
      ? []
      : [typeof delay === "string" ? `after ${delay}` : `after ${delay.from} ${delay.step.startsWith("-") ? "" : "+"}${delay.step}`]),
    ...(status === undefined ? [] : [statusText(status)]),
    ...(stream ? [countOf(stream.length, "step")] : []),
    ...(reply === undefined ? [] : [JSON.stringify(reply)]),
    ...(reply === undefined && !stream && status === undefined ? ["the method’s handler"] : []),
    ...(release === undefined ? [] : [`releases ${release}`]),
  ];
  return parts.join(", ").slice(0, longestText);
}

function statusText(status: ReplyStatus): string {
  const { code, message } = typeof status === "object" ? status : { code: status };
  const known = parseStatusCode(String(code));
  const name = known === undefined ? String(code) : statusName(known);
  return message === undefined ? name : `${name} ${message}`;
}
