import type { ExposureSummary } from '../graph/describe-trust.ts'

/** Describes the exposure that a decision was given, as it is recorded with the decision and shown by its replay. */
export function graphEvidence(exposure: ExposureSummary) {
  const { asOf, paths } = exposure
  return {
    ...(asOf !== undefined && { as_of: asOf }),
    evidence_count: exposure.evidenceCount,
    negative_exposure: exposure.negativeExposure,
    negative_exposure_without_payments: exposure.negativeExposureWithoutPayments,
    paths: paths.map(({ entityId, edges, strength, share, usesPayments }) => ({
      edges,
      entity_id: entityId,
      share,
      strength,
      uses_payments: usesPayments,
    })),
    positive_support: exposure.positiveSupport,
  }
}
