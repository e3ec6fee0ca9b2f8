import type { IceCandidate, MediaCodec, SessionDescription } from "../../../../../contract/services/webrtc-description.ts";
import { Section } from "../../../inspectors/section.tsx";
import { useFirstRows } from "../../../ui/first-rows.tsx";
import { Chip, Note } from "../../../ui/panel.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { type ComparedItem, type ComparedSection, type ComparedText, compareDescriptions } from "./compare-descriptions.ts";
import styles from "./description.module.css";

interface DescriptionViewProps {
  readonly description: SessionDescription;
  /** Differences to it are marked. */
  readonly before?: SessionDescription | undefined;
}

/** A session description by its sections; beside another one with what was added, removed and changed. */
export function DescriptionView({ description, before }: DescriptionViewProps) {
  const { session, sections, changes } = compareDescriptions(description, before);
  return (
    <>
      {before && <Note className={styles.count}>{changes === 0 ? "No difference." : formatCountOf(changes, "difference")}</Note>}
      {sections.map((section) => (
        <MediaSectionView key={section.index} section={section} />
      ))}
      {session.length > 0 && (
        <Section title="Session">
          <FactRows facts={session} />
        </Section>
      )}
      {description.isCut && <Note className={styles.count}>It is longer than what is shown.</Note>}
    </>
  );
}

const kindTitles: Readonly<Record<string, string>> = { audio: "Audio", video: "Video", application: "Data" };
const titleOf = ({ kind }: ComparedSection): string => kindTitles[kind] ?? kind;

function MediaSectionView({ section }: { readonly section: ComparedSection }) {
  const { mid, index, change, isRejected, facts, codecs, candidates, others } = section;
  return (
    <Section
      title={titleOf(section)}
      facts={`section ${index}, mid ${shownText(mid)}`}
      actions={
        <>
          {isRejected && <Chip tone="bad">rejected</Chip>}
          {change !== "same" && <Chip tone={change === "removed" ? "bad" : undefined}>{change}</Chip>}
        </>
      }
    >
      <FactRows facts={facts} />
      <Items title="Codecs" items={codecs} text={codecText} />
      <Items title="Candidates" items={candidates} text={candidateText} />
      {others.length > 0 && (
        <details className={styles.others}>
          <summary>{formatCountOf(others.length, "other attribute")}</summary>
          <ItemList items={others} text={shownText} />
        </details>
      )}
    </Section>
  );
}

const changeWords = { same: "", added: "added: ", removed: "removed: ", changed: "changed: " } as const;

function FactRows({ facts }: { readonly facts: readonly { readonly name: string; readonly value: ComparedText }[] }) {
  const { shown, more } = useFirstRows(facts, "attribute");
  return (
    <>
      <dl className={styles.facts}>
        {shown.map(({ name, value: { change, text, before } }) => (
          <div key={name} className={styles.fact}>
            <dt>{name}</dt>
            <dd>
              {before !== undefined && (
                <del className={styles.before}>
                  <span className="visually-hidden">was </span>
                  {shownText(before)}
                </del>
              )}
              {text !== "" && (
                <span className={styles.now} data-change={change}>
                  <span className="visually-hidden">{changeWords[change]}</span>
                  {shownText(text)}
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
      {more}
    </>
  );
}

interface ItemsProps<Item> {
  readonly title: string;
  readonly items: readonly ComparedItem<Item>[];
  readonly text: (item: Item) => string;
}

function Items<Item>({ title, items, text }: ItemsProps<Item>) {
  if (items.length === 0) return null;
  return (
    <>
      <h4 className={styles.title}>{title}</h4>
      <ItemList items={items} text={text} />
    </>
  );
}

const signs = { same: "", added: "+", removed: "−" } as const;

function ItemList<Item>({ items, text }: Omit<ItemsProps<Item>, "title">) {
  const { shown, more } = useFirstRows(items, "line");
  return (
    <>
      <ul className={styles.items}>
        {shown.map(({ change, item }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place.
          <li key={index} data-change={change}>
            <span className={styles.sign} aria-hidden="true">
              {signs[change]}
            </span>
            <span>
              <span className="visually-hidden">{changeWords[change]}</span>
              {text(item)}
            </span>
          </li>
        ))}
      </ul>
      {more}
    </>
  );
}

const codecText = ({ payloadType, name, parameters }: MediaCodec): string =>
  shownText([payloadType, name, parameters].filter(Boolean).join("  "));

/** "relay  udp 127.0.0.1:50112  from 127.0.0.1:40001" */
export const candidateText = ({ type, transport, address, port, related, tcpType, component }: IceCandidate): string =>
  shownText(
    [
      type,
      `${transport}${tcpType === undefined ? "" : ` ${tcpType}`} ${address.includes(":") ? `[${address}]` : address}:${port}`,
      component === 2 ? "RTCP" : "",
      related && related.port > 0 ? `from ${related.address}:${related.port}` : "",
    ]
      .filter(Boolean)
      .join("  "),
  );
