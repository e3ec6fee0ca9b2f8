import type { RtspPathView } from "../../../../../contract/services/rtsp.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { useService } from "../../../control/use-store.ts";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { FoldTitle } from "../../../ui/fold-title.tsx";
import { Caption, Chip, Spring } from "../../../ui/panel.tsx";
import { Card } from "../../../ui/plot-card.tsx";
import { Boundary } from "../../../ui/status/boundary.tsx";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { FaultBadges } from "../faults/fault-badges.tsx";
import { requestedPaths } from "../requested-paths.ts";
import { streamUrl } from "../stream-addresses.ts";
import { useRtspView } from "../use-rtsp-view.ts";
import styles from "./picture.module.css";
import { StreamPictureParts } from "./stream-picture.tsx";
import { rateTexts, trackText } from "./stream-texts.ts";

/** The picture of each stream, above the sessions. */
export function PicturesStrip() {
  const service = useService("rtsp");
  const view = useRtspView("paths");
  const [isOpen, setIsOpen] = useRemembered("rtsp.pictures.open", true);
  if (service?.status.state !== "running" || !view || view.paths.length === 0) return null;
  return (
    <section className={styles.strip} aria-label="Pictures">
      <div className={styles.stripHead}>
        <FoldTitle title="Pictures" open={isOpen} onToggle={() => setIsOpen(!isOpen)} />
        <Caption>{formatCountOf(view.paths.length + view.more, "stream")}</Caption>
      </div>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
        <ul className={styles.cards} tabIndex={0} aria-label="Pictures of the streams">
          {view.paths.map((path) => (
            <li key={path.name}>
              <Boundary region={`picture of ${path.name}`}>
                <PictureCard path={path} url={streamUrl(service, path.name)} />
              </Boundary>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function PictureCard({ path, url }: { readonly path: RtspPathView; readonly url: string }) {
  const open = () => {
    requestedPaths.give("rtsp", path.name);
    goTo(servicePage("rtsp", "paths"));
  };
  const tracks = path.tracks.map(trackText).join(" · ");
  return (
    <StreamPictureParts path={path}>
      {({ picture, tools, losses, facts }) => (
        <Card as="article" className={styles.card} aria-label={`/${path.name}`}>
          <div className={styles.cardHead}>
            <button type="button" className={styles.name} title={`Open ${shownText(`/${path.name}`)}`} onClick={open}>
              {shownText(`/${path.name}`)}
            </button>
            <CopyButton text={url} what="the address" />
            <Spring />
            <Caption className={styles.readers}>{formatCountOf(path.readers, "reader")}</Caption>
            {tools}
          </div>
          <div className={styles.shown}>
            {picture}
            <div className={styles.faults}>
              <FaultBadges target={{ kind: "path", path: path.name }} />
              {losses.length > 0 && (
                <Chip className={styles.losses} title="The picture has fallen behind, or could not be decoded">
                  {losses.join(" · ")}
                </Chip>
              )}
            </div>
          </div>
          <p className={styles.facts} title={tracks}>
            {tracks || (path.ready ? "No track is known yet" : "not fetched")}
          </p>
          <p className={styles.facts}>{[...rateTexts(path), ...facts].join(" · ")}</p>
        </Card>
      )}
    </StreamPictureParts>
  );
}
