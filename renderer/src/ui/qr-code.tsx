import type { QrCode } from "../../../contract/service.ts";
import styles from "./qr-code.module.css";

/** Light modules around the code. */
const quiet = 4;

/** Dark on light in both themes: some readers need it so. */
export function QrCodePicture({ qr: { modules, path }, label }: { readonly qr: QrCode; readonly label: string }) {
  const side = modules + 2 * quiet;
  return (
    <svg className={styles.code} viewBox={`${-quiet} ${-quiet} ${side} ${side}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect x={-quiet} y={-quiet} width={side} height={side} fill="white" />
      <path d={path} fill="black" />
    </svg>
  );
}
