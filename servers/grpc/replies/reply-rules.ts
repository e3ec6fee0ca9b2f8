import type { ReplyRule, ReplyRuleView, ReplyStatus } from "../../../contract/services/grpc-replies.ts";
import { countOf } from "../../core/service/quantity.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import { parseStatusCode, statusName } from "../engine/status.ts";
import type { ServedMethods } from "../services/served-methods.ts";
import { type CompiledRule, compileRule } from "./compile-rule.ts";
import { PatternSizes } from "./conditions.ts";
import { nodeAt, pathText, problemsIn } from "./json-source.ts";
import type { ParsedReplies, RuleSource } from "./parse-replies.ts";

/** The rules of a file for what is served now. */
export interface ReplyRules {
  /** In the order of the file. */
  readonly view: readonly ReplyRuleView[];
  /** The enabled and valid ones, by the path of their method. */
  readonly byPath: ReadonlyMap<string, readonly CompiledRule[]>;
}

/** What is served when rules are compiled. */
export type Served = Pick<ServedMethods, "view" | "find">;

interface CompiledSource {
  /** By the paths of their methods. */
  readonly rules: readonly (readonly [path: string, rule: CompiledRule])[];
  readonly view: Omit<ReplyRuleView, "key">;
  /** Instructions of all patterns. */
  readonly patterns: number;
  /** The first thing that does not fit, by its offset in the text of the rule. */
  readonly misfit: { readonly offset: number; readonly path: readonly PropertyKey[]; readonly message: string } | undefined;
}

/** Compiles the rules of files, in steps. What is compiled stays as long as its text is known and the same is served. */
export class RuleCompiler {
  readonly #mostSteps: number;
  #served: Served | undefined;
  #known = new WeakMap<RuleSource, CompiledSource>();

  constructor(mostSteps: number) {
    this.#mostSteps = mostSteps;
  }

  /** A rule that does not fit the types is left out and reported; the others answer. */
  *compile({ text, rules }: ParsedReplies, served: Served): Generator<void, ReplyRules> {
    const byPath = new Map<string, CompiledRule[]>();
    const view: ReplyRuleView[] = [];
    const problemOf = problemsIn(text);
    let patterns = 0;
    for (const [index, { key, source, place }] of rules.entries()) {
      yield;
      const compiled = patterns > mostOfFile ? notCompiled(source) : yield* this.#compiled(source, served);
      patterns += compiled.patterns;
      const { misfit } = compiled;
      const problem = misfit && {
        ...problemOf({ offset: place.offset + misfit.offset, message: misfit.message }),
        message: `${pathText(["rules", index, ...misfit.path])}: ${misfit.message}`,
      };
      view.push({ key, ...compiled.view, ...(problem && { problem }) });
      if (problem || !source.rule.enabled) continue;
      for (const [path, rule] of compiled.rules) {
        const ofPath = byPath.get(path) ?? [];
        // Rules with the same text have numbers in their keys.
        ofPath.push(rule.key === key ? rule : { ...rule, key });
        byPath.set(path, ofPath);
      }
    }
    return { view, byPath };
  }

  *#compiled(source: RuleSource, served: Served): Generator<void, CompiledSource> {
    if (this.#served !== served) this.#known = new WeakMap();
    this.#served = served;
    const known = this.#known;
    const before = known.get(source);
    if (before) return before;
    const { rule, node, base } = source;
    let misfit: CompiledSource["misfit"];
    const onMisfit = (path: readonly PropertyKey[], message: string) => {
      misfit ??= { offset: nodeAt(node, path).offset, path, message };
    };
    const rules: (readonly [string, CompiledRule])[] = [];
    const patterns = new PatternSizes();
    const methods = methodsOf(rule.method, served);
    if (typeof methods === "string") onMisfit(["method"], methods);
    else
      for (const method of methods) {
        yield;
        rules.push([method.path, yield* compileRule({ key: base, rule, method, mostSteps: this.#mostSteps, onMisfit, patterns })]);
      }
    const compiled = { rules, view: viewOf(rule), patterns: patterns.sum, misfit };
    known.set(source, compiled);
    return compiled;
  }
}

/** Instructions of the patterns of a file's rules, some 85 MB. */
const mostOfFile = 1_000_000;

function notCompiled({ rule, node }: RuleSource): CompiledSource {
  const message = "the patterns of the rules before this one are too large together";
  return { rules: [], view: viewOf(rule), patterns: 0, misfit: { offset: node.offset, path: [], message } };
}

const viewOf = (rule: ReplyRule): CompiledSource["view"] => ({
  name: rule.name ?? "",
  method: rule.method,
  enabled: rule.enabled,
  when: whenText(rule),
  answer: answerText(rule),
});

/** Returns the problem if there is none. */
function methodsOf(name: string, served: Served): readonly GrpcMethod[] | string {
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
