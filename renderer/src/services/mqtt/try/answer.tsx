import type { MqttTryAnswer } from "../../../../../contract/services/mqtt-try.ts";
import { StatusShape } from "../../../ui/status-shape.tsx";
import { formatTook } from "../../../ui/time.ts";
import styles from "../../try/try-page.module.css";

/** "PUBACK 0x10 no matching subscribers", with the broker's reason string behind it. */
export function answerText({ packet, reason, meaning, text }: MqttTryAnswer): string {
  const code = reason === undefined ? "" : `0x${reason.toString(16).padStart(2, "0")}`;
  const said = [packet, code, meaning].filter(Boolean).join(" ");
  return text ? `${said}: ${text}` : said;
}

/** What the broker said, with how long it took. */
export function Answer({ answer }: { readonly answer: MqttTryAnswer }) {
  const text = answerText(answer);
  return (
    <span className={answer.ok ? undefined : styles.problem} title={text}>
      <StatusShape shape={answer.ok ? "running" : "failed"} /> {text}
      {answer.packet && ` · ${formatTook(answer.tookMs)}`}
    </span>
  );
}
