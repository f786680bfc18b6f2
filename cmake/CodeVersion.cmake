# cmake -DVERSION=... -DSOURCES=a;b;... -DOUTPUT=... -P CodeVersion.cmake
# Writes the version with a digest of the sources: stored machine code of other sources is not used.
set(digests "")
foreach(source ${SOURCES})
  file(SHA256 ${source} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT} "#include \"lanewise/backend/cpu/code_version.h\"

const char* const lw::backend::cpu::kCodeVersion = \"${VERSION} ${digest}\";
")
