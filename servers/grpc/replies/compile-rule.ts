import { AnySchema } from "@bufbuild/protobuf/wkt";
import {
  endlessRepeat,
  type Json,
  type ReplyRule,
  type ReplyStatus,
  type ReplyStep,
  timeMs,
} from "../../../contract/services/grpc-replies.ts";
import { grpcStatusNames } from "../../../contract/traffic/grpc.ts";
import { errorText } from "../../core/service/service-error.ts";
import { detailType, statusDetails } from "../engine/error-details.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import { prefixBytes } from "../engine/message-type.ts";
import { parseStatusCode, StatusError, statusCode, statusName } from "../engine/status.ts";
import { type CompiledConditions, compileConditions, type PatternSizes } from "./conditions.ts";
import { pathText } from "./json-source.ts";
import { type MessageTemplate, messageTemplate, type OnMisfit } from "./message-template.ts";
import { parseTemplate, type TemplateScope, textOf } from "./template.ts";

/** What a call ends with; the details are the serialized google.rpc.Status. */
export interface ScriptedStatus {
  readonly code: number;
  readonly message: string;
  readonly details: Buffer | undefined;
}

export type StatusTemplate = (scope: TemplateScope) => ScriptedStatus;

export type ScriptStep =
  | { readonly kind: "message"; readonly message: MessageTemplate }
  | { readonly kind: "pause"; readonly ms: number }
  | { readonly kind: "waitFor" | "release"; readonly name: string }
  /** Infinity repeats until the client leaves. */
  | { readonly kind: "repeat"; readonly times: number; readonly steps: readonly ScriptStep[] }
  | { readonly kind: "status"; readonly status: StatusTemplate };

export type MetadataTemplate = (scope: TemplateScope) => readonly (readonly [name: string, value: string | Buffer])[];

/** A rule for one method. */
export interface CompiledRule {
  readonly key: string;
  readonly name: string;
  readonly conditions: CompiledConditions;
  readonly times: number | undefined;
  readonly every: number | undefined;
  readonly release: string | undefined;
  readonly waitFor: string | undefined;
  /** Of the n-th answer, from 1. */
  delayMs(answer: number): number;
  readonly headers: MetadataTemplate;
  readonly trailers: MetadataTemplate;
  readonly reply: MessageTemplate | undefined;
  readonly script: readonly ScriptStep[] | undefined;
  readonly status: StatusTemplate | undefined;
}

/** Of repeats within repeats. */
const deepestRepeat = 16;

export interface CompileOptions {
  readonly key: string;
  readonly rule: ReplyRule;
  readonly method: GrpcMethod;
  readonly mostSteps: number;
  /** Called for everything that does not fit the types of the method. */
  readonly onMisfit: OnMisfit;
  readonly patterns: PatternSizes;
}

/** In steps: a rule may have thousands of messages. */
export function* compileRule({ key, rule, method, mostSteps, onMisfit, patterns }: CompileOptions): Generator<void, CompiledRule> {
  const { pattern } = method;
  checkAnswers(rule, pattern, onMisfit);
  const within = new Parts(method, mostSteps, onMisfit);
  const conditions = yield* compileConditions(rule.when, method.descriptor.input, pattern === "client stream", onMisfit, patterns);
  if (conditions.readsMessages && rule.reply !== undefined && rule.stream) {
    onMisfit(["reply"], "a rule with conditions on the request has reply or stream");
  }
  return {
    key,
    name: rule.name ?? rule.method,
    conditions,
    times: rule.times,
    every: rule.every,
    release: rule.release,
    waitFor: rule.waitFor,
    delayMs: delayOf(rule.delay),
    headers: within.metadata(rule.headers, "headers"),
    trailers: within.metadata(rule.trailers, "trailers"),
    reply: rule.reply === undefined ? undefined : within.message(rule.reply, ["reply"]),
    script: rule.stream && (yield* within.script(rule.stream, ["stream"], 0)),
    status: rule.status === undefined ? undefined : within.status(rule.status, ["status"]),
  };
}

/** Which of `reply`, `stream` and `status` a rule may have depends on the pattern of its method. */
function checkAnswers({ reply, stream, status }: ReplyRule, pattern: GrpcMethod["pattern"], onMisfit: OnMisfit): void {
  const isBidi = pattern === "bidi stream";
  if (status !== undefined && (reply !== undefined || stream))
    onMisfit(["status"], "a rule with a status has neither reply nor stream: a stream has a status as its last step");
  if (stream && (pattern === "unary" || pattern === "client stream"))
    onMisfit(["stream"], "this method answers with one message: use reply, with delay or waitFor if it has to wait");
  if (reply !== undefined && stream && !isBidi)
    onMisfit(["reply"], "a rule has reply or stream; only one for streams in both directions may have both");
}

function delayOf(delay: ReplyRule["delay"]): (answer: number) => number {
  if (delay === undefined) return () => 0;
  if (typeof delay === "string") {
    const ms = timeMs(delay);
    return () => ms;
  }
  const [from, step, least] = [timeMs(delay.from), timeMs(delay.step), timeMs(delay.least ?? "0s")];
  return (answer) => Math.min(Math.max(least, from + step * (answer - 1)), 86_400_000);
}

class Parts {
  readonly #method: GrpcMethod;
  readonly #onMisfit: OnMisfit;
  #stepsLeft: number;

  constructor(method: GrpcMethod, mostSteps: number, onMisfit: OnMisfit) {
    this.#method = method;
    this.#stepsLeft = mostSteps;
    this.#onMisfit = onMisfit;
  }

  message(json: Json, path: readonly PropertyKey[]): MessageTemplate {
    const { input, output } = this.#method.descriptor;
    return this.#message(output, json, path, input);
  }

  #message(
    type: GrpcMethod["descriptor"]["output"],
    json: Json,
    path: readonly PropertyKey[],
    request: GrpcMethod["descriptor"]["input"],
  ): MessageTemplate {
    const onMisfit: OnMisfit = (inner, message) => this.#onMisfit([...path, ...inner], message);
    return messageTemplate({ type, json, request, registry: this.#method.pool.registry, onMisfit });
  }

  *script(steps: readonly ReplyStep[], path: readonly PropertyKey[], depth: number): Generator<void, readonly ScriptStep[]> {
    if (depth > deepestRepeat) {
      this.#onMisfit(path, `there are more than ${deepestRepeat} repeats within each other`);
      return [];
    }
    if (!this.#takesSteps(steps.length, path)) return [];
    const compiled: ScriptStep[] = [];
    for (const [index, step] of steps.entries()) {
      if (this.#stepsLeft < 0) break;
      for (const one of yield* this.#step(step, [...path, index], depth)) compiled.push(one);
    }
    return compiled;
  }

  /** Whether so many more are allowed: else none of them is compiled. */
  #takesSteps(count: number, path: readonly PropertyKey[]): boolean {
    const left = Math.max(0, this.#stepsLeft);
    this.#stepsLeft -= count;
    if (this.#stepsLeft >= 0) return true;
    this.#onMisfit([...path, left], "the rule has more steps than are allowed");
    return false;
  }

  *#step(step: ReplyStep, path: readonly PropertyKey[], depth: number): Generator<void, readonly ScriptStep[]> {
    yield;
    if (step.message !== undefined) return [{ kind: "message", message: this.message(step.message, [...path, "message"]) }];
    if (step.messages) {
      if (!this.#takesSteps(step.messages.length, [...path, "messages"])) return [];
      const messages: ScriptStep[] = [];
      for (const [index, json] of step.messages.entries()) {
        yield;
        messages.push({ kind: "message", message: this.message(json, [...path, "messages", index]) });
      }
      return messages;
    }
    if (step.pause !== undefined) return [{ kind: "pause", ms: timeMs(step.pause) }];
    if (step.waitFor !== undefined) return [{ kind: "waitFor", name: step.waitFor }];
    if (step.release !== undefined) return [{ kind: "release", name: step.release }];
    if (step.status !== undefined) return [{ kind: "status", status: this.status(step.status, [...path, "status"]) }];
    const steps = yield* this.script(step.steps ?? [], [...path, "steps"], depth + 1);
    const isEndless = step.repeat === endlessRepeat;
    if (isEndless && !steps.some(takesTime))
      this.#onMisfit([...path, "steps"], "what is repeated until the client leaves has a message, a pause of more than 0 or a waitFor");
    return [{ kind: "repeat", times: isEndless ? Number.POSITIVE_INFINITY : (step.repeat as number), steps }];
  }

  status(status: ReplyStatus, path: readonly PropertyKey[]): StatusTemplate {
    const { code: named, message = undefined, details = [] } = typeof status === "object" ? status : { code: status };
    const code = parseStatusCode(String(named));
    if (code === undefined)
      this.#onMisfit(
        typeof status === "object" ? [...path, "code"] : path,
        `a status is expected: 0 to 16, or one of ${grpcStatusNames.join(", ")}`,
      );
    const text = this.#text(message ?? `${statusName(code ?? 2)} by a reply rule`, [...path, "message"]);
    const { pool, descriptor } = this.#method;
    const packed = details.map((json, index) => {
      const at = [...path, "details", index];
      try {
        const type = detailType(json as never, pool);
        const { "@type": _, ...fields } = json as { readonly [name: string]: Json };
        const detail = this.#message(type, fields, at, descriptor.input);
        return (scope: TemplateScope) => ({ typeUrl: `type.googleapis.com/${type.typeName}`, value: detail(scope).subarray(prefixBytes) });
      } catch (error) {
        this.#onMisfit(at, errorText(error));
        return undefined;
      }
    });
    return (scope) => {
      const ended = { code: code ?? statusCode("UNKNOWN"), message: text(scope) };
      const anys = packed.flatMap((detail) => (detail ? [{ ...emptyAny, ...detail(scope) }] : []));
      return { ...ended, details: anys.length === 0 ? undefined : statusDetails(pool, anys)(ended.code, ended.message) };
    };
  }

  metadata(fields: ReplyRule["headers"], name: "headers" | "trailers"): MetadataTemplate {
    const pairs = Object.entries(fields ?? {}).flatMap(([field, values]) =>
      [values].flat().map((value) => {
        const text = this.#text(value, [name, field]);
        return (scope: TemplateScope) => [field, metadataValue(field, text(scope))] as const;
      }),
    );
    return (scope) => pairs.map((pair) => pair(scope));
  }

  #text(text: string, path: readonly PropertyKey[]): (scope: TemplateScope) => string {
    try {
      const template = parseTemplate(text, this.#method.descriptor.input);
      return template ? (scope) => boundedText(textOf(template(scope)), scope, path) : () => text;
    } catch (error) {
      this.#onMisfit(path, errorText(error));
      return () => text;
    }
  }
}

/** Throws RESOURCE_EXHAUSTED for a text that is too long for metadata: what clients send may be megabytes, which no client takes in a header field. */
function boundedText(text: string, { mostCharacters }: TemplateScope, path: readonly PropertyKey[]): string {
  if (text.length <= mostCharacters) return text;
  const made = `${pathText(path)} of a reply rule has ${text.length} characters`;
  throw new StatusError("RESOURCE_EXHAUSTED", `${made}, which is more than the limit of ${mostCharacters}`);
}

const emptyAny = { $typeName: AnySchema.typeName } as const;

/** The value of a field whose name ends in "-bin" is base64; others may have printable ASCII only. */
const metadataValue = (name: string, text: string): string | Buffer =>
  name.endsWith("-bin") ? Buffer.from(text, "base64") : text.replace(/[^ -~]/g, "?").trim();

const takesTime = (step: ScriptStep): boolean => {
  switch (step.kind) {
    case "message":
    case "waitFor":
    case "status":
      return true;
    case "pause":
      return step.ms > 0;
    case "release":
      return false;
    case "repeat":
      return step.steps.some(takesTime);
    default:
      return step satisfies never;
  }
};
