import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import type { MethodReplies } from "../engine/handlers.ts";
import { StatusError } from "../engine/status.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { chooseRule, type PerformParts, RuleCall } from "./perform-rule.ts";
import { ReceivedMessages } from "./received-messages.ts";
import { answerBothWays } from "./rules-both-ways.ts";

export interface RuleRepliesOptions extends PerformParts {
  /** The enabled and valid rules in the order of the file; undefined if a method has none. */
  readonly rulesOf: (method: GrpcMethod) => readonly CompiledRule[] | undefined;
  /** Limit of a client's stream, which is held until its end for the rules to check. */
  readonly heldBytes: number;
}

/** Of each message that is held, beside its bytes. */
const overheadBytes = 64;
/** The same in memory. */
const memoryOverhead = 512;

/** Answers calls by the rules that the user wrote. */
export function createRuleReplies({ rulesOf, heldBytes, ...parts }: RuleRepliesOptions): MethodReplies {
  return {
    begin(call, method, otherwise) {
      const all = rulesOf(method);
      if (!all) return false;
      const head = new ReceivedMessages(call, method, [], parts.mostValues);
      const rules = all.filter(({ conditions }) => conditions.metadataMatches(head));
      if (rules.length === 0) return false;
      if (method.pattern === "bidi stream") return answerBothWays({ call, method, rules, parts, otherwise });
      const answer = async (messages: readonly Uint8Array[]) => {
        const isOne = method.pattern !== "client stream";
        const received = new ReceivedMessages(call, method, messages, parts.mostValues);
        const giveBack = () => {
          call.giveBack(messages, true);
          otherwise();
        };
        // A wrong number of messages is refused by the method's handler.
        const chosen = isOne && messages.length !== 1 ? undefined : await call.work.run(chooseRule(rules, received, parts.counts));
        if (call.isEnding) return;
        if (!chosen) {
          giveBack();
          return;
        }
        const { reply, script } = chosen.rule;
        const goesOn = await new RuleCall(call, parts).perform(chosen, received, giveBack);
        if (goesOn && (reply || script)) call.finish();
      };
      // The half-closes of many calls may arrive at once.
      holdMessages(call, method, heldBytes, (messages) => call.run(() => answer(messages)));
      return true;
    },
  };
}

/** Reads up to the half-close. */
function holdMessages(call: GrpcCall, { pattern }: GrpcMethod, heldBytes: number, then: (messages: readonly Uint8Array[]) => void): void {
  const messages: Uint8Array[] = [];
  let held = 0;
  call.receive({
    message(bytes) {
      messages.push(bytes);
      held += bytes.length + overheadBytes;
      // Until the call has ended: its rules read them then.
      call.held.add(bytes.length + memoryOverhead);
      if (pattern === "client stream" && held > heldBytes) {
        throw new StatusError(
          "RESOURCE_EXHAUSTED",
          `the reply rules hold a stream until its end, and this one is longer than ${heldBytes} bytes`,
        );
      }
      // A second message is one too many: no more are held.
      if (pattern !== "client stream" && messages.length > 1) then(messages);
      else call.read();
    },
    halfClose: () => then(messages),
  });
}
