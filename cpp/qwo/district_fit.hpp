// The likelihood of a Gaussian MAG, district by district.
//
// x_D = B x_pa(D) + e, cov(e) = Omega, which has entries on the diagonal and where vertices are
// spouses. f(D) = min over B and Omega of log det Omega + tr(Omega^-1 R) - |D|, R the covariance of
// the residuals. For one vertex that is the log of its residual variance.
//
// Residual iterative conditional fitting: M. Drton, M. Eichler, T. S. Richardson, Computing maximum
// likelihood estimates in recursive linear models with correlated errors, JMLR 10 (2009). Inverse
// and determinant of Omega are carried along, so that a vertex costs the square of the district's
// size.
#pragma once

#include <vector>

#include "qwo/mag.hpp"

namespace qwo {

// Coefficients and error covariances of a whole graph, to start fits from.
struct MagParameters {
    explicit MagParameters(int n) : n(n), beta(Index{n} * n, 0.0), omega(Index{n} * n, 0.0) {}
    double& coefficient(int parent, int child) { return beta[Index{child} * n + parent]; }
    double& covariance(int i, int j) { return omega[Index{i} * n + j]; }

    int n;
    std::vector<double> beta;
    std::vector<double> omega;
};

class DistrictFit {
  public:
    DistrictFit(const double* correlation, int n, int most_sweeps)
        : s_(correlation), n_(n), most_sweeps_(most_sweeps), place_(n, -1) {}

    // f of a district; the fit starts from the parameters of a graph much like this one, and a
    // sweep that gains less than the tolerance is the last one. NaN where variables determine each
    // other.
    double fit(const Mag& mag, const std::vector<int>& district, MagParameters& start,
               double tolerance);
    // Writes the parameters of the last fit.
    void store(MagParameters& into) const;

  private:
    struct Member {
        std::vector<int> parents; // places among the variables of the fit
        std::vector<int> spouses; // places in the district
    };
    void gather(const Mag& mag, const std::vector<int>& district);
    bool regress(int member);
    bool start_from(MagParameters& start);
    bool start_alone();
    bool invert();
    void refresh(int member);
    bool update(int member);
    double value() const;
    double& a(int i, int z) { return a_[Index{i} * k_ + z]; }
    double s(int i, int j) const { return sv_[Index{i} * k_ + j]; }

    const double* s_;
    int n_;
    int most_sweeps_;
    std::vector<int> place_;
    int m_ = 0, k_ = 0;
    std::vector<int> variables_;
    std::vector<Member> members_;
    std::vector<double> sv_, a_, c_, r_, omega_, w_;
    double log_det_ = 0.0;
    std::vector<double> gram_, solution_, right_, rows_, product_, kc_, old_;
};

} // namespace qwo
