import type { Handlers } from "../../../contract/operation.ts";
import type { GrpcViews } from "../../../contract/services/grpc.ts";
import type { GrpcReplyViews, grpcReplyActions, ReplyProblem, ReplyRuleView } from "../../../contract/services/grpc-replies.ts";
import { type ConfiguredFile, checkConfiguredFile, fileProblem } from "../../core/config/configured-file.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText, ServiceError } from "../../core/service/service-error.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { MethodReplies } from "../engine/handlers.ts";
import type { ServedMethods } from "../services/served-methods.ts";
import { ruleText, withOrder, withoutRule, withRule, withSwitch } from "./edit-replies.ts";
import { noReplies, type ParsedReplies, type ParsedRule, parseReplies, parseRuleText, type ReplyLimits } from "./parse-replies.ts";
import { Releases } from "./releases.ts";
import { openRepliesFile } from "./replies-file.ts";
import { type ReplyRules, RuleCompiler } from "./reply-rules.ts";
import { RuleCounts } from "./rule-counts.ts";
import { createRuleReplies } from "./rule-replies.ts";

export interface RepliesOptions {
  /** Absolute path. */
  readonly file: string;
  /** Absent where the file is in the data folder. */
  readonly configured: ConfiguredFile | undefined;
  readonly limits: ReplyLimits & { readonly heldBytes: number; readonly messageValues: number; readonly metadataBytes: number };
  readonly served: () => Pick<ServedMethods, "view" | "find">;
  /** Rules are read and compiled in the turns of all clients, behind what these ask for. */
  readonly turns: Pick<WorkTurns, "background" | "each">;
  readonly log: Log;
  readonly show: <Name extends keyof GrpcReplyViews>(name: Name, view: GrpcViews[Name]) => void;
  readonly onStop: (release: () => void | Promise<void>) => void;
}

export interface Replies {
  readonly methodReplies: MethodReplies;
  readonly actions: Omit<Handlers<typeof grpcReplyActions>, "call.push">;
  /** To be called when the served methods are known, and when they have changed. Resolves when the rules for them are in use. */
  serve(): Promise<void>;
  /** Shows the counts if they have changed. */
  showCounts(): void;
}

const mostWaitingShown = 200;
const showWaitingMs = 50;

/**
 * The user's reply rules: reads and writes their file, compiles them and answers calls by them. Throws CONFIG_INVALID where a configured file
 * cannot be read now; if it is missing or broken later, the service goes on.
 */
export async function openReplies({ file, configured, limits, served, turns, log, show, onStop }: RepliesOptions): Promise<Replies> {
  const isConfigured = configured !== undefined;
  if (configured) await checkConfiguredFile(configured);
  const counts = new RuleCounts();
  /** The text of the file, which may be broken. */
  let text = "";
  let revision = 0;
  let problems: readonly ReplyProblem[] = [];
  /** The last valid text. */
  let parsed = noReplies;
  /** Of a text that is about to be written. */
  let checkedNext = noReplies;
  let rules: ReplyRules = { view: [], byPath: new Map() };
  let isServing = false;
  const compiler = new RuleCompiler(limits.steps);
  const run = <Result>(steps: Generator<void, Result>): Promise<Result> => turns.background("").run(steps);
  /** Changes of the rules, one after the other. */
  let changes: Promise<unknown> = Promise.resolve();
  const inOrder = (steps: () => Generator<void, void>): Promise<void> => {
    const change = changes.then(() => run(steps()));
    changes = change.catch(() => {});
    return change;
  };

  let timer: NodeJS.Timeout | undefined;
  const releases = new Releases(turns, () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      show("waitingCalls", { calls: releases.list(mostWaitingShown) });
    }, showWaitingMs);
  });
  onStop(() => clearTimeout(timer));

  /** The rules before stay in use until those of the new text are complete. */
  function* take(next: string): Generator<void, void> {
    const isKnown = checkedNext.text === next && checkedNext !== noReplies;
    const result = isKnown ? checkedNext : yield* parseReplies(next, limits, parsed.sources);
    checkedNext = noReplies;
    const valid = "problems" in result ? parsed : result;
    const compiled = isServing ? yield* compiler.compile(valid, served()) : undefined;
    const isWarned = problems.length > 0 || (text === "" && isConfigured && revision > 0);
    if (next === "" && isConfigured) log.warning(`${file} is missing or empty: no reply rules are in use until it has some.`);
    text = next;
    revision++;
    problems = "problems" in result ? result.problems : [];
    if (valid !== parsed) counts.keepOnly(new Set(valid.rules.map(({ key }) => key)));
    parsed = valid;
    const [problem] = problems;
    if (problem) log.warning(`${file}:${problem.line}:${problem.column}: ${problem.message}. The last valid reply rules stay in use.`);
    else if (isWarned && (next !== "" || !isConfigured)) log.notable(`${file} has no problem any more: its reply rules are in use.`);
    if (compiled) yield* use(compiled);
  }

  function* use(compiled: ReplyRules): Generator<void, void> {
    const before = rules.view;
    rules = compiled;
    yield* tellOfRules(before);
    showRules();
  }

  function* cannotRead(message: string): Generator<void, void> {
    revision++;
    problems = [{ line: 1, column: 1, message }];
    log.warning(`${file}: ${message}. The last valid reply rules stay in use.`);
    yield;
    showRules();
  }

  function showRules(): void {
    if (isServing) show("replies", { file, isConfigured, revision, problems, rules: rules.view });
  }

  /** What was said of a rule is taken back when it is not true any more: the warning is still shown. */
  function* tellOfRules(before: readonly ReplyRuleView[]): Generator<void, void> {
    const known = new Set(before.map(problemText));
    const hadProblem = new Set(before.flatMap(({ key, problem }) => (problem ? [key] : [])));
    let isTakenBack = false;
    for (const rule of rules.view) {
      yield;
      const problem = problemText(rule);
      if (problem && !known.has(problem)) log.warning(`${file}:${problem}. This reply rule is not used.`);
      if (problem || !hadProblem.has(rule.key)) continue;
      isTakenBack = true;
      const use = rule.enabled ? "is used now" : "has no problem any more, and is switched off";
      log.notable(`${file}: the reply rule ${rule.name || rule.method} ${use}.`);
    }
    // A rule without a name that was changed is another one.
    if (hadProblem.size > 0 && !isTakenBack && rules.view.every(({ problem }) => !problem))
      log.notable(`${file}: no reply rule has a problem any more.`);
  }

  const kept = await openRepliesFile({
    file,
    mostBytes: limits.bytes,
    onText: (next) => inOrder(() => take(next)),
    onStop,
    onProblem: (message) => inOrder(() => cannotRead(message)),
  });

  const [broken] = problems;
  if (configured && broken) {
    const problem = `has a problem in line ${broken.line}, column ${broken.column}: ${broken.message}`;
    throw fileProblem(configured, problem, `Correct the file, or name another one in ${configured.env}.`);
  }

  /**
   * Writes what `next` makes of the rules as they are in its turn. Refuses a broken text, and a file that was changed on disk when nobody
   * has seen that yet, unless `next` compares by itself what it changes.
   */
  async function write(next: () => string | Promise<string>, compares = false): Promise<null> {
    const checked = async (hasChanged: boolean): Promise<string> => {
      if (hasChanged && !compares) throw changed();
      const made = await next();
      const result = await run(parseReplies(made, limits, parsed.sources));
      if ("problems" in result) throw brokenText(result.problems);
      checkedNext = result;
      return made;
    };
    await kept.change(checked).catch((cause: unknown) => {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError("CALL_INVALID", `${file} cannot be written: ${errorText(cause)}`, "Check the folder and its permissions.", {
        cause,
      });
    });
    return null;
  }

  /** The problems of a text that is not in the file yet. */
  function* problemsOf(next: string): Generator<void, readonly ReplyProblem[]> {
    const result = yield* parseReplies(next, limits, parsed.sources);
    if ("problems" in result) return result.problems;
    return (yield* compiler.compile(result, served())).view.flatMap(({ problem }) => problem ?? []);
  }

  /** The same of one rule, by its own lines. */
  function* problemsOfRule(next: string): Generator<void, readonly ReplyProblem[]> {
    const rule = yield* parseRuleText(next);
    if ("problems" in rule) return rule.problems;
    return (yield* problemsOf(`{ "rules": [\n${next}\n] }`)).map(({ line, column, message }) => ({
      line: line - 1,
      column,
      message: message.replace(/^rules\[0\](?:\.|: )/, ""),
    }));
  }

  /** The rules of the file. Single rules of a broken file cannot be changed. */
  function current(): ParsedReplies {
    if (problems.length > 0) throw new ServiceError("CALL_INVALID", "The replies file is broken", "Correct its text first.");
    return parsed;
  }

  function placeOf(key: string): { readonly index: number; readonly rule: ParsedRule } {
    const index = parsed.rules.findIndex((rule) => rule.key === key);
    const rule = parsed.rules[index];
    if (!rule) throw new ServiceError("CALL_INVALID", "There is no such reply rule", "It may have been removed: check the list of rules.");
    return { index, rule };
  }

  return {
    methodReplies: createRuleReplies({
      rulesOf: ({ path }) => rules.byPath.get(path),
      heldBytes: limits.heldBytes,
      counts,
      releases,
      mostValues: limits.messageValues,
      mostCharacters: limits.metadataBytes,
      onFault: ({ entry, head }, { name }, message) => log.warning(`Reply rule ${name} ended ${head.path} (row ${entry.id}): ${message}`),
    }),
    serve: () =>
      inOrder(function* () {
        isServing = true;
        yield* use(yield* compiler.compile(parsed, served()));
      }),
    showCounts() {
      const changed = counts.takeChanged();
      if (changed) show("replyCounts", { counts: changed });
    },
    actions: {
      "replies.read": () => ({ revision, text, rules: parsed.rules.map((rule) => ({ key: rule.key, text: ruleText(parsed, rule) })) }),
      "replies.check": async ({ of, text: next }) => ({ problems: await run(of === "file" ? problemsOf(next) : problemsOfRule(next)) }),
      "replies.write": ({ revision: known, text: next }) =>
        write(() => {
          if (known !== revision) throw changed();
          return next;
        }),
      async "reply.save"({ key, before, text: next }) {
        let place = 0;
        await write(
          async () => {
            const rule = await run(parseRuleText(next));
            if ("problems" in rule) throw brokenText(rule.problems);
            const within = current();
            place = key === undefined ? within.rules.length : placeOf(key).index;
            const known = within.rules[place];
            if (known && before !== undefined && before !== ruleText(within, known)) throw changed();
            return withRule(within, rule.text, known?.place);
          },
          key === undefined || before !== undefined,
        );
        return { key: parsed.rules[place]?.key ?? "" };
      },
      "reply.remove": ({ key }) => write(() => withoutRule(current(), placeOf(key).index)),
      "reply.move": ({ key, to }) => write(() => withOrder(current(), placeOf(key).index, Math.min(to, parsed.rules.length - 1))),
      "reply.enable": ({ key, enabled }) => write(() => withSwitch(current(), placeOf(key).index, enabled)),
      "reply.reset": ({ key }) => {
        counts.reset(key);
        return null;
      },
      "reply.release": ({ name, id }) => ({ released: releases.release(name, id) }),
    },
  };
}

const problemText = ({ problem }: ReplyRuleView): string | undefined => problem && `${problem.line}:${problem.column}: ${problem.message}`;

const changed = () => new ServiceError("CALL_INVALID", "The reply rules were changed elsewhere", "Check them, then repeat your change.");

function brokenText(problems: readonly ReplyProblem[]): ServiceError {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new ServiceError(
    "CALL_INVALID",
    `Line ${first?.line}, column ${first?.column}: ${first?.message}${more}`,
    "Correct the text; nothing was saved.",
  );
}
