import { useEffect, useState } from "react";
import type { QrCode } from "../../../../../contract/service.ts";
import type { WebrtcTestPage } from "../../../../../contract/services/webrtc-test-page.ts";
import styles from "../page.module.css";
import { fetchPage } from "./fetch-page.ts";

/** How to open this page on a phone: its address as a code, and what to do about the certificate. */
export function PhonePanel() {
  const [page, setPage] = useState<WebrtcTestPage | "missing">();
  useEffect(() => {
    const controller = new AbortController();
    fetchPage(controller.signal)
      .then(setPage)
      .catch(() => controller.signal.aborted || setPage("missing"));
    return () => controller.abort();
  }, []);
  if (page === undefined) return null;
  if (page === "missing") return <p className={styles.note}>The server does not say how it is reached.</p>;
  return (
    <div className={styles.scroll}>
      <h3>Open this page on a phone</h3>
      {page.lan.length === 0 ? (
        <p className={styles.note}>
          {page.openToLan
            ? "This computer has no address in a network."
            : "The service is reached from this computer only. Switch “Open to the LAN” on in Config of the WebRTC service, then scan the code that is shown here."}
        </p>
      ) : (
        <ul className={styles.codes}>
          {page.lan.map(({ url, qr }) => (
            <li key={url}>
              <Code qr={qr} label={`Code of ${url}`} />
              <a href={url}>{url}</a>
            </li>
          ))}
        </ul>
      )}
      <h3>The certificate</h3>
      {page.authority ? (
        <>
          <p>
            Its https is signed by this installation’s own authority, which no browser knows: it warns. Either go on in spite of the warning
            (“Advanced”, then “Proceed” or “visit this website”): camera and calls work then, TURN over TLS does not. Or let the device
            trust the authority:
          </p>
          <p>
            <a href="/test-page/backlot-authority.crt" download="backlot-authority.crt">
              Save the certificate of the authority
            </a>
          </p>
          <ul className={styles.steps}>
            <li>
              iOS: open it, install the profile in Settings, General, VPN & Device Management, then turn it on in General, About,
              Certificate Trust Settings.
            </li>
            <li>Android: Settings, Security, Encryption & credentials, Install a certificate, CA certificate.</li>
            <li>Computers: the dashboard has the commands under “How to trust it”.</li>
          </ul>
          <p className={styles.note}>
            Compare its SHA-256 fingerprint first: <code>{page.authority.fingerprint}</code>
          </p>
        </>
      ) : (
        <p>The service uses a certificate of your own.</p>
      )}
    </div>
  );
}

/** Dark on light in both themes: some readers need it so. */
function Code({ qr: { modules, path }, label }: { readonly qr: QrCode; readonly label: string }) {
  const quiet = 4;
  const side = modules + 2 * quiet;
  return (
    <svg className={styles.code} viewBox={`${-quiet} ${-quiet} ${side} ${side}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect x={-quiet} y={-quiet} width={side} height={side} fill="white" />
      <path d={path} fill="black" />
    </svg>
  );
}
