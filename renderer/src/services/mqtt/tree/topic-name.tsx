import { shownText } from "../../../ui/texts/shown-text.ts";
import styles from "./topic-panel.module.css";
import { leafStart } from "./topic-scope.ts";

/** The last levels distinguish topics, so a long name is truncated at its start. */
export function TopicName({ topic, hasLeaf = false }: { readonly topic: string; readonly hasLeaf?: boolean }) {
  const cut = leafStart(topic);
  return (
    <span className={styles.topicName}>
      <bdi dir="ltr">
        {hasLeaf ? (
          <>
            <span className={styles.above}>{shownText(topic.slice(0, cut))}</span>
            <span className={styles.leaf}>{shownText(topic.slice(cut))}</span>
          </>
        ) : (
          shownText(topic)
        )}
      </bdi>
    </span>
  );
}
