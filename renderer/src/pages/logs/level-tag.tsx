import type { LogLevel } from "../../../../contract/log.ts";
import styles from "./level-tag.module.css";

export function LevelTag({ level }: { level: LogLevel }) {
  return <span className={`${styles.tag} ${styles[level]}`}>{level}</span>;
}
