import styles from "./first-run.module.css";

/** Three façades with their props, seen from the front: one is painted. */
export function Lot() {
  return (
    <svg viewBox="0 0 358 104" width="346" height="104" aria-hidden="true" className={styles.lot}>
      <path className={styles.ground} d="M6 102h346" />
      <path d="M27 101V38h13.500V25.500H56v-13h19v13h15.500V38H104v63M56 101V70h19v31M104 46l28 55m-28-28.500h13.500" />
      <path className={styles.painted} d="M137 23h92m-86.500 0v78M224 23v78M158 38h14v16h-14Zm37 0h14v16h-14Zm-21 63V72h18.500v29" />
      <path d="m224 34 31 67m-31-34h15M263 101V51l26-18 26 18v50M284 54h10m-14 47V75h18v26m17-44 21 44m-21-20.500h10.500" />
    </svg>
  );
}
