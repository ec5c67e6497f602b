// Times OpenBLAS's products, Cholesky factorisation and symmetric eigensolver, one JSON line
// each; an order behind the name is for the eigensolver alone.
//
//	cc -O2 blas.c -o blas -lopenblas -lm && OPENBLAS_CORETYPE=SAPPHIRERAPIDS OPENBLAS_NUM_THREADS=1 ./blas sgemm
//	./blas dsyev 4096
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void dpotrf_(char *, int *, double *, int *, int *);
void dsyevd_(char *, char *, int *, double *, int *, double *, double *, int *, int *, int *, int *);

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int compare(const void *a, const void *b) {
	double x = *(double *)a, y = *(double *)b;
	return (x > y) - (x < y);
}

static void *numbers(size_t n, int size) {
	void *p = aligned_alloc(64, (n * size + 63) / 64 * 64);
	for (size_t i = 0; i < n; i++) {
		double v = drand48() - 0.5;
		if (size == 4)
			((float *)p)[i] = v;
		else
			((double *)p)[i] = v;
	}
	return p;
}

#define ROUNDS 5
#define MEASURE(name, shape, flops, setup, call)                                             \
	do {                                                                                     \
		double t[ROUNDS];                                                                    \
		setup;                                                                               \
		call;                                                                                \
		for (int r = 0; r < ROUNDS; r++) {                                                   \
			int turns = 0;                                                                   \
			double took = 0;                                                                 \
			while (took < 0.03) {                                                            \
				setup;                                                                       \
				double start = now();                                                        \
				call;                                                                        \
				took += now() - start;                                                       \
				turns++;                                                                     \
			}                                                                                \
			t[r] = took / turns;                                                             \
		}                                                                                    \
		qsort(t, ROUNDS, sizeof *t, compare);                                                \
		printf("{\"name\": \"%s\", \"shape\": \"%s\", \"value\": %.1f}\n", name, shape, (flops) / t[ROUNDS / 2] / 1e9); \
		fflush(stdout);                                                                      \
	} while (0)

int main(int argc, char **argv) {
	const char *only = argc > 1 ? argv[1] : "";
	int shapes[3][3] = {{4096, 784, 4096}, {4096, 64, 4096}, {1024, 22, 1024}};
	for (int s = 0; s < 3; s++) {
		int m = shapes[s][0], k = shapes[s][1], n = shapes[s][2];
		char shape[64];
		snprintf(shape, sizeof shape, "%dx%dx%d", m, k, n);
		double flops = 2.0 * m * k * n;
		if (strstr("sgemm", only)) {
			float *a = numbers((size_t)m * k, 4), *b = numbers((size_t)k * n, 4), *c = numbers((size_t)m * n, 4);
			MEASURE("sgemm", shape, flops, , cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n));
			free(a), free(b), free(c);
		}
		if (strstr("dgemm", only)) {
			double *a = numbers((size_t)m * k, 8), *b = numbers((size_t)k * n, 8), *c = numbers((size_t)m * n, 8);
			MEASURE("dgemm", shape, flops, , cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n));
			free(a), free(b), free(c);
		}
	}
	int n = 4096;
	double rank = (double)n * n * (n + 1);
	if (strstr("ssyrk", only)) {
		float *z = numbers((size_t)n * n, 4), *c = numbers((size_t)n * n, 4);
		MEASURE("ssyrk", "4096x4096", rank, , cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, n, n, 1, z, n, 0, c, n));
		free(z), free(c);
	}
	if (strstr("dsyrk", only)) {
		double *z = numbers((size_t)n * n, 8), *c = numbers((size_t)n * n, 8);
		MEASURE("dsyrk", "4096x4096", rank, , cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, n, 1, z, n, 0, c, n));
		free(z), free(c);
	}
	if (strstr("dpotrf", only)) {
		double *a = numbers((size_t)n * n, 8), *work = numbers((size_t)n * n, 8);
		for (int i = 0; i < n; i++)
			a[(size_t)i * n + i] = 4 * sqrt(n);
		int info;
		MEASURE("dpotrf", "4096x4096", (double)n * n * n / 3, memcpy(work, a, (size_t)n * n * 8), dpotrf_("L", &n, work, &n, &info));
		free(a), free(work);
	}
	int orders[] = {1024, 2048}, one = argc > 2 ? atoi(argv[2]) : 0;
	for (int s = 0; s < (one ? 1 : 2) && strstr("dsyev", only); s++) {
		int n = one ? one : orders[s], lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n, info;
		char shape[64];
		snprintf(shape, sizeof shape, "%dx%d", n, n);
		double *a = numbers((size_t)n * n, 8), *v = numbers((size_t)n * n, 8), *w = numbers(n, 8), *work = numbers(lwork, 8);
		int *iwork = malloc(liwork * sizeof *iwork);
		MEASURE("dsyev", shape, 14.0 / 3 * n * n * n, memcpy(v, a, (size_t)n * n * 8), dsyevd_("V", "L", &n, v, &n, w, work, &lwork, iwork, &liwork, &info));
		free(a), free(v), free(w), free(work), free(iwork);
	}
	return 0;
}
