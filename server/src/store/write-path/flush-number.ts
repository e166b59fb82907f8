/** SQL: the number of the batch statement, which its first step takes. */
export const FLUSH = '(SELECT number FROM flush)'

/** SQL: the step that takes the number. */
export const TAKE_FLUSH_NUMBER = "flush AS MATERIALIZED (SELECT nextval('flush_numbers') AS number)"
