import { useMemo } from "react";
import type { HeaderList } from "../../../../contract/traffic/http.ts";
import { Section } from "../../inspectors/section.tsx";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { TextBlock } from "../../ui/copy/text-block.tsx";
import { shownText } from "../../ui/texts/shown-text.ts";
import { toHex } from "../../viewer/decode/bytes.ts";
import styles from "./grpc.module.css";
import { type StatusDetail, statusDetails } from "./schema/status-details.ts";
import { useGrpcSchema } from "./schema/use-grpc-schema.ts";

const mostDetails = 20;

interface StatusDetailsViewProps {
  readonly trailers: HeaderList | undefined;
  /** Of the protocol files that were served when the call began. */
  readonly revision: string | undefined;
}

/** The messages of `grpc-status-details-bin`, decoded by their types; renders nothing if there are none. */
export function StatusDetailsView({ trailers, revision }: StatusDetailsViewProps) {
  const schema = useGrpcSchema(revision).value;
  const details = useMemo(() => statusDetails(schema, trailers), [schema, trailers]);
  if (details.length === 0) return null;
  return (
    <Section title="Status details" facts={details.length}>
      {details.slice(0, mostDetails).map((detail, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a type may come twice, and the list never changes.
        <Detail key={index} detail={detail} />
      ))}
    </Section>
  );
}

function Detail({ detail: { typeName, json, bytes } }: { readonly detail: StatusDetail }) {
  const text = json === undefined ? toHex(bytes) : JSON.stringify(json, null, 2);
  return (
    <div className={styles.detail}>
      <div className={styles.detailHead}>
        <code>{shownText(typeName)}</code>
        <CopyButton text={text} what={typeName} />
      </div>
      <TextBlock>{text.split("\n").map(shownText).join("\n")}</TextBlock>
    </div>
  );
}
