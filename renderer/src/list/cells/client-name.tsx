import { type ClientMark, readClient } from "../../../../contract/client-mark.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import styles from "./client-name.module.css";

const titles: Readonly<Record<ClientMark, string>> = {
  sample: "Sample traffic of Backlot",
  "sent again": "Sent again by Backlot, not by the client",
  "from Try": "Sent from Try, with this User-Agent",
};

const Mark = ({ mark }: { readonly mark: ClientMark }) => (
  <span className={styles.mark} title={titles[mark]}>
    {mark}
  </span>
);

/** What Backlot sent itself, so that a new user sees traffic. */
export const SampleMark = () => <Mark mark="sample" />;

/** The software of a row's client, with a mark if Backlot itself sent it. */
export function ClientName({ client }: { readonly client: string }) {
  const { software, mark } = readClient(client);
  if (!mark) return shownText(client);
  return (
    <>
      {shownText(software)} <Mark mark={mark} />
    </>
  );
}
